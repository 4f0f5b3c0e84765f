// What came of a run: report, fallback, answers. Keys and their order are those of the payload.

import { fill, fromTemplate, make, part, text } from "./dom.js";
import { isMock, renderPassage, renderReference, sourceName } from "./references.js";

/** `prefix` makes the ids of this run unique on the page. */
export function renderContent({ content_type: type, payload }, prefix) {
  switch (type) {
    case "DIAGNOSIS_REPORT":
      return renderReport(payload, prefix);
    case "FALLBACK":
      return renderFallback(payload);
    case "KNOWLEDGE_ANSWER":
      return renderKnowledge(payload, prefix);
    default:
      return renderAnswer(payload);
  }
}

function renderReport(payload, prefix) {
  const element = fromTemplate("report-template");
  const ids = new Map(payload.analysis.map((each, place) => [each.analysis_id, { id: `${prefix}-a${place + 1}`, number: place + 1 }]));
  const references = new Map(payload.references.map((each) => [each.reference_id, each]));

  const conclusion = payload.conclusion;
  fill(element, { conclusion: conclusion ? conclusion.text : text("noConclusion") });
  if (conclusion) part(element, "conclusion-basis").append(...basis(conclusion.based_on_analysis_ids, ids));
  else element.querySelector("[data-section=conclusion]").classList.add("without");

  list(element, "analysis", payload.analysis, (each) => analysis(each, ids.get(each.analysis_id), references, prefix));
  list(element, "action_plan", payload.action_plan, (each) => action(each, ids));
  list(element, "recommendations", payload.recommendations, (each) => item(each.text, each.based_on_analysis_ids, ids));
  fill(element, { scope: payload.limitations.scope });
  list(element, "missing_info", payload.limitations.missing_info, (each) => make("li", "words", each));
  list(element, "references", payload.references, (each) => {
    const citing = payload.analysis.filter((analysis_) => analysis_.reference_ids.includes(each.reference_id));
    const links = citing.map((analysis_) => analysisLink(ids.get(analysis_.analysis_id)));
    return renderReference(each, `${prefix}-${each.reference_id}`, links);
  });
  part(element, "mock").hidden = !payload.references.some(isMock);
  element.addEventListener("click", followReference);
  return element;
}

function analysis(each, { id, number }, references, prefix) {
  const element = fromTemplate("analysis-template");
  element.id = id;
  element.setAttribute("aria-label", text("analysisNumber", { number }));
  fill(element, { text: each.text });
  part(element, "negative").hidden = each.kind !== "NEGATIVE_OBSERVATION";
  part(element, "mock").hidden = !each.reference_ids.some((reference) => isMock(references.get(reference) ?? {}));
  for (const reference of each.reference_ids) {
    const link = make("a", "ref-link", reference);
    link.href = `#${prefix}-${reference}`;
    link.setAttribute("aria-label", text("referenceNumber", { number: reference }));
    part(element, "links").append(link);
  }
  return element;
}

function action(each, ids) {
  const element = fromTemplate("action-template");
  fill(element, { text: each.action });
  part(element, "confirm").hidden = !each.requires_human_confirmation;
  element.classList.toggle("needs-confirmation", each.requires_human_confirmation);
  part(element, "links").append(...basis(each.based_on_analysis_ids, ids));
  return element;
}

function item(words, analysisIds, ids) {
  const element = fromTemplate("action-template");
  fill(element, { text: words });
  part(element, "links").append(...basis(analysisIds, ids));
  return element;
}

function basis(analysisIds, ids) {
  const links = analysisIds.filter((each) => ids.has(each)).map((each) => analysisLink(ids.get(each)));
  return links.length ? [`${text("basedOn")} `, ...links] : [];
}

function analysisLink({ id, number }) {
  const link = make("a", "analysis-link", String(number));
  link.href = `#${id}`;
  link.setAttribute("aria-label", text("analysisNumber", { number }));
  return link;
}

/** A link to a reference opens it; a link to an analysis puts the focus there. */
function followReference(event) {
  const link = event.target.closest("a.ref-link, a.analysis-link");
  if (!link) return;
  const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!target) return;
  event.preventDefault();
  if (target instanceof HTMLDetailsElement) target.open = true;
  const focused = target.querySelector(":scope > summary") ?? target;
  focused.focus({ preventScroll: true });
  target.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  target.classList.remove("pointed-at");
  void target.offsetWidth; // restarts the animation when the same target is pointed at again
  target.classList.add("pointed-at");
}

function list(root, name, entries, render) {
  const element = part(root, name);
  const made = entries.map(render);
  if (made.length) element.replaceChildren(...made);
  else if (name === "missing_info") element.remove();
  else element.replaceWith(make("p", "muted", text("none")));
}

function renderFallback(payload) {
  const element = fromTemplate("fallback-template");
  element.dataset.type = payload.type;
  fill(element, { message: payload.message });
  for (const name of ["next_steps", "limitations"]) {
    list(element, name, payload[name], (each) => make("li", "words", each));
  }
  if (!payload.verified_sources.length) element.querySelector("[data-section=verified_sources]").remove();
  else {
    list(element, "verified_sources", payload.verified_sources, (each) => {
      const source = fromTemplate("source-template");
      fill(source, { kind: text(each.source_type), source: sourceName(each), scope: each.scope });
      part(source, "mock").hidden = !isMock(each);
      return source;
    });
  }
  return element;
}

function renderKnowledge(payload, prefix) {
  const element = fromTemplate("knowledge-answer-template");
  fill(element, { answer: payload.answer });
  if (payload.references.length) {
    list(element, "references", payload.references, (each) => {
      const number = payload.references.indexOf(each) + 1;
      return renderPassage(each, number, `${prefix}-R${number}`);
    });
  } else element.querySelector("[data-section=references]").remove();
  if (payload.limitations.length) list(element, "limitations", payload.limitations, (each) => make("li", "words", each));
  else element.querySelector("[data-section=limitations]").remove();
  return element;
}

function renderAnswer(payload) {
  const element = fromTemplate("system-answer-template");
  fill(element, { answer: payload.answer });
  return element;
}
