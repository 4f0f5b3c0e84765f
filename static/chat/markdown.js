// A released result as Markdown, in the order of the report.

import { text } from "./dom.js";
import { isMock, sourceName } from "./references.js";

export function toMarkdown(query, { content_type: type, payload }, byDemoModel) {
  const lines = [`# ${plain(query)}`, ""];
  if (byDemoModel) lines.push(`*${text("byDemoModel")}*`, "");
  if (type === "DIAGNOSIS_REPORT") lines.push(...report(payload));
  else if (type === "FALLBACK") lines.push(...fallback(payload));
  else lines.push(payload.answer, "", ...answerReferences(payload));
  return `${lines.join("\n").trim()}\n`;
}

function report(payload) {
  const numbers = new Map(payload.analysis.map((each, place) => [each.analysis_id, place + 1]));
  const based = (ids) => {
    const shown = ids.filter((id) => numbers.has(id)).map((id) => numbers.get(id));
    return shown.length ? ` (${text("basedOn")} ${shown.join(", ")})` : "";
  };
  const { conclusion, limitations } = payload;
  const lines = [`## ${text("conclusion")}`, ""];
  lines.push(conclusion ? plain(conclusion.text) + based(conclusion.based_on_analysis_ids) : text("noConclusion"), "");
  section(lines, "analysis", payload.analysis, (each, place) => `${place + 1}. ${plain(each.text)} [${each.reference_ids.join(", ")}]`);
  section(lines, "actionPlan", payload.action_plan, (each, place) => {
    const mark = each.requires_human_confirmation ? `**[${text("confirmMark")}]** ` : "";
    return `${place + 1}. ${mark}${plain(each.action)}${based(each.based_on_analysis_ids)}`;
  });
  section(lines, "recommendations", payload.recommendations, (each) => `- ${plain(each.text)}${based(each.based_on_analysis_ids)}`);
  lines.push(`## ${text("limitations")}`, "", plain(limitations.scope), "");
  limitations.missing_info.forEach((each) => lines.push(`- ${plain(each)}`));
  if (limitations.missing_info.length) lines.push("");
  section(lines, "references", payload.references, (each) => {
    const mock = isMock(each) ? ` **${text("mock")}**` : "";
    return `- **${each.reference_id}** ${text(each.source_type)} · ${plain(sourceName(each))}${mock} · ${plain(each.scope)}`;
  });
  return lines;
}

function section(lines, title, entries, line) {
  lines.push(`## ${text(title)}`, "");
  lines.push(...(entries.length ? entries.map(line) : [text("none")]), "");
}

function fallback(payload) {
  const lines = [`## ${text("noReport")}`, "", plain(payload.message), ""];
  section(lines, "nextSteps", payload.next_steps, (each) => `- ${plain(each)}`);
  section(lines, "limitations", payload.limitations, (each) => `- ${plain(each)}`);
  if (payload.verified_sources.length) {
    section(lines, "sources", payload.verified_sources, (each) => {
      const mock = isMock(each) ? ` **${text("mock")}**` : "";
      return `- ${text(each.source_type)} · ${plain(sourceName(each))}${mock} · ${plain(each.scope)}`;
    });
  }
  return lines;
}

function answerReferences(payload) {
  const lines = [];
  if (payload.references?.length) section(lines, "references", payload.references, (each) => `- ${plain(each.title)} · ${plain(each.breadcrumb)}`);
  if (payload.limitations?.length) section(lines, "limitations", payload.limitations, (each) => `- ${plain(each)}`);
  return lines;
}

/** One line, with what Markdown or HTML would read as markup made harmless. */
function plain(words) {
  return String(words ?? "")
    .replace(/\s*\n\s*/g, " ")
    .replace(/([\\`*_{}[\]<>#|])/g, "\\$1");
}
