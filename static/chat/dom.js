// Templates of the page, cloned and filled. Text enters by textContent only.

/** A copy of the element in `<template id=…>`. */
export function fromTemplate(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

/** The element marked `data-part=name`. */
export function part(root, name) {
  return root.querySelector(`[data-part="${name}"]`);
}

export function fill(root, values) {
  for (const [name, text] of Object.entries(values)) part(root, name).textContent = text ?? "";
}

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const words = new Map(
  [...document.getElementById("texts").content.querySelectorAll("[data-key]")].map((each) => [each.dataset.key, each.textContent]),
);

/** A text of the page's language; `values` fill its {braces}. Unknown keys stand for themselves, such as codes. */
export function text(key, values = {}) {
  return (words.get(key) ?? key).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** `12 s`, `2 min 5 s`. */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return text("seconds", { seconds });
  return text("minutes", { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

/** Show the time of a `<time datetime>` in the reader's zone and language. */
export function showTime(element, iso = element.dateTime) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return;
  const today = at.toDateString() === new Date().toDateString();
  const format = today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  element.dateTime = iso;
  element.textContent = new Intl.DateTimeFormat(document.documentElement.lang, format).format(at);
  element.title = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "full", timeStyle: "long" }).format(at);
}

/** Say something to screen readers, once. */
export function announce(message) {
  document.querySelector("[data-live]").textContent = message;
}
