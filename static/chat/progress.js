// How a run goes on: the plan that ticks off, a line for each tool call, and the time that it takes.

import { announce, duration, fill, fromTemplate, part, text } from "./dom.js";

/** Statuses that say that the evidence has been gathered: all steps but the last are done. */
const CHECKING = new Set(["EVIDENCE_VALIDATING", "EVIDENCE_REPAIRING", "SEMANTIC_VALIDATING"]);

/** Leads the message of a tool call that failed. */
const FAILED = /^✗ /;

export class Progress {
  constructor(root) {
    this.root = root;
    this.steps = [];
    this.tools = 0;
    this.current = null;
    this.startedAt = performance.now();
    root.hidden = false;
    root.open = true;
    root.dataset.state = "running";
    fill(root, { phase: text("waiting") });
    this.timer = setInterval(() => this.tick(), 1000);
    this.tick();
  }

  /** Take a status event; a message of several lines is the plan. */
  status({ code, message }) {
    if (code === "DIAGNOSIS_PLAN") {
      this.plan(message.split("\n").filter((line) => line.trim()));
      return;
    }
    if (code === "TOOL_FINISHED") {
      if (!FAILED.test(message)) this.tools += 1;
      this.close(message);
      this.advance(Math.min(this.tools, this.steps.length - 1));
    } else {
      this.close();
      this.open(code, message);
      if (CHECKING.has(code)) this.advance(this.steps.length - 1);
      if (code === "RELEASING") this.advance(this.steps.length);
    }
    fill(this.root, { phase: message });
    announce(message);
  }

  plan(lines) {
    const list = part(this.root, "steps");
    this.steps = lines.map((line) => {
      const step = fromTemplate("step-template");
      fill(step, { text: line });
      return step;
    });
    list.replaceChildren(...this.steps);
    part(this.root, "plan").hidden = false;
    this.advance(0);
    announce(lines.join("; "));
  }

  /**
   * Tick the first `done` steps; none is ever unticked. The stream does not name steps, so each tool call that came
   * through ticks one of them, and the last one waits for the release.
   */
  advance(done) {
    this.steps.forEach((step, place) => {
      if (step.dataset.state === "done") return;
      const state = place < done ? "done" : place === done ? "active" : "waiting";
      step.dataset.state = state;
      fill(step, { state: text({ done: "stepDone", active: "stepActive", waiting: "stepWaiting" }[state]) });
    });
  }

  open(code, message) {
    const line = fromTemplate("activity-template");
    line.dataset.code = code;
    fill(line, { message });
    part(this.root, "activity").append(line);
    this.current = { line, startedAt: performance.now() };
  }

  /** End the line that runs; a finished tool call replaces its words. */
  close(message) {
    if (message !== undefined && this.current?.line.dataset.code !== "TOOL_RUNNING") this.open("TOOL_RUNNING", message);
    if (!this.current) return;
    const { line } = this.current;
    line.dataset.state = "done";
    if (message !== undefined) {
      if (FAILED.test(message)) line.dataset.state = "failed";
      line.dataset.code = "TOOL_FINISHED";
      fill(line, { message: message.replace(FAILED, ""), elapsed: "" });
    }
    this.current = null;
  }

  tick() {
    const now = performance.now();
    fill(this.root, { elapsed: duration(now - this.startedAt) });
    if (this.current && now - this.current.startedAt > 1500) {
      fill(this.current.line, { elapsed: duration(now - this.current.startedAt) });
    }
  }

  /** The run is over: `outcome` is done, failed or stopped. The lines fold away above the result. */
  end(outcome) {
    clearInterval(this.timer);
    this.tick();
    if (this.current) {
      this.current.line.dataset.state = outcome === "done" ? "done" : "failed";
      this.current = null;
    }
    if (outcome === "done") this.advance(this.steps.length);
    else this.steps.filter((step) => step.dataset.state === "active").forEach((step) => (step.dataset.state = "waiting"));
    fill(this.root, { phase: text({ done: "finished", failed: "failed", stopped: "stopped" }[outcome]) });
    this.root.dataset.state = outcome;
    this.root.open = false;
  }
}
