// The page: earlier runs, and the one that is asked now.

import { renderActions } from "./actions.js";
import { Composer } from "./composer.js";
import { announce, fill, fromTemplate, part, showTime, text } from "./dom.js";
import { Progress } from "./progress.js";
import { renderContent } from "./report.js";
import { setUpSessions, touchSession } from "./sessions.js";
import { RefusedError, ask, send } from "./stream.js";

const NO_ID = "00000000-0000-0000-0000-000000000000";
const root = document.querySelector("[data-page]");
const page = {
  ...root.dataset,
  demoModel: document.querySelector(".demo-note") !== null,
  sessionId: root.dataset.sessionId || null,
};
const runs = document.querySelector("[data-runs]");
const welcome = document.querySelector("[data-welcome]");
let stopping = null;

const composer = new Composer(document.querySelector("[data-composer]"), {
  onAsk: (query) => start(query),
  onStop: () => stopping?.abort(),
});

function addRun(query, startedAt) {
  const article = fromTemplate("run-template");
  fill(article, { query });
  showTime(part(article, "time"), startedAt);
  runs.append(article);
  welcome.hidden = true;
  return article;
}

function showContent(article, run) {
  const content = renderContent(run.content, `run${runs.children.length}`);
  if (page.demoModel && run.content.content_type !== "FALLBACK") content.dataset.demo = text("byDemoModel");
  part(article, "result").replaceChildren(content, renderActions(run, article, page));
}

function showEnd(article, template, query, values = {}) {
  const card = fromTemplate(template);
  fill(card, values);
  part(card, "again").addEventListener("click", () => composer.put(query));
  part(article, "result").replaceChildren(card);
  return card;
}

async function start(query) {
  const article = addRun(query, new Date().toISOString());
  const progress = new Progress(part(article, "progress"));
  const run = { id: null, query, content: null, feedback: null };
  let failure = null;
  let outcome = null;
  stopping = new AbortController();
  composer.setBusy(true);
  article.scrollIntoView({ block: "start" });
  try {
    for await (const { name, data } of ask(page.chatUrl, query, page.sessionId, stopping.signal)) {
      if (name === "metadata") begin(run, data);
      else if (name === "status") progress.status(data);
      else if (name === "content") run.content = data;
      else if (name === "failure") failure = data;
      else if (name === "done") outcome = data.outcome;
    }
  } catch (error) {
    failure = explain(error);
  } finally {
    composer.setBusy(false);
  }
  finish(article, progress, run, failure, outcome);
}

function begin(run, { session_id: sessionId, run_id: runId }) {
  run.id = runId;
  const url = page.sessionUrl.replace(NO_ID, sessionId);
  if (page.sessionId !== sessionId) history.replaceState(null, "", url);
  page.sessionId = sessionId;
  touchSession(sessionId, run.query, url);
}

/** What the page says about an error that is not the stream's own `failure`. */
function explain(error) {
  if (error.name === "AbortError") return { code: "STOPPED" };
  if (error instanceof RefusedError) return { code: error.code, message: error.message };
  return { code: "UNREACHABLE", message: text("unreachable") };
}

function finish(article, progress, run, failure, outcome) {
  if (run.content && outcome) {
    progress.end("done");
    showContent(article, run);
    const ready = { DIAGNOSIS_REPORT: "reportReady", FALLBACK: "fallbackReady" };
    announce(text(ready[run.content.content_type] ?? "answerReady"));
  } else if (failure?.code === "STOPPED") {
    progress.end("stopped");
    showEnd(article, "stopped-template", run.query);
    announce(text("stopped"));
  } else {
    progress.end("failed");
    const card = showEnd(article, "failure-template", run.query, { message: failure?.message ?? text("connectionLost") });
    card.dataset.code = failure?.code ?? "CONNECTION_LOST";
    if (failure?.code === "NOT_AUTHENTICATED") {
      const login = part(card, "login");
      login.href = `${page.loginUrl}?next=${encodeURIComponent(location.pathname)}`;
      login.hidden = false;
    }
  }
  article.scrollIntoView({ block: "start" });
}

function showEarlier(run) {
  const article = addRun(run.user_query, run.started_at);
  if (run.content) {
    showContent(article, { id: run.run_id, query: run.user_query, content: run.content, feedback: run.feedback });
  } else if (run.status === "RUNNING") {
    showRunning(article, run);
  } else if (run.status === "CANCELLED") {
    showEnd(article, "stopped-template", run.user_query);
  } else {
    const message = text("earlierFailure", { code: run.failure_code ?? run.status });
    showEnd(article, "failure-template", run.user_query, { message }).removeAttribute("role");
  }
}

function showRunning(article, run) {
  const card = fromTemplate("running-template");
  part(card, "reload").addEventListener("click", () => location.reload());
  part(card, "cancel").addEventListener("click", async () => {
    try {
      await send("POST", page.cancelUrl.replace(NO_ID, run.run_id));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error; // refused: it has ended, which the reload shows
    }
    location.reload();
  });
  part(article, "result").replaceChildren(card);
}

setUpSessions(page);
JSON.parse(document.getElementById("runs").textContent).forEach(showEarlier);
runs.lastElementChild?.scrollIntoView({ block: "start" });
document.querySelectorAll("[data-example]").forEach((button) => {
  button.addEventListener("click", () => composer.put(button.textContent.trim()));
});
document.querySelector("[data-language]").addEventListener("submit", (event) => {
  event.currentTarget.elements.next.value = location.pathname; // a session that began here has an address of its own
});
if (matchMedia("(min-width: 721px)").matches) composer.area.focus();
