// Below a result: copy it, print it, say whether it helped.

import { fromTemplate, part, text } from "./dom.js";
import { toMarkdown } from "./markdown.js";
import { send } from "./stream.js";

/** `run`: {id, query, content, feedback}; `article`: the run's element, which is what gets printed. */
export function renderActions(run, article, { feedbackUrl, demoModel }) {
  const element = fromTemplate("actions-template");
  const notice = part(element, "notice");
  part(element, "copy").addEventListener("click", async () => {
    const copied = await copy(toMarkdown(run.query, run.content, demoModel));
    notice.textContent = text(copied ? "copied" : "copyFailed");
  });
  part(element, "print").addEventListener("click", () => print(article));
  const ratings = [...element.querySelectorAll("[data-rating]")];
  const press = (rating) => ratings.forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.rating === rating)));
  press(run.feedback);
  for (const button of ratings) {
    button.addEventListener("click", async () => {
      try {
        await send("POST", feedbackUrl, { run_id: run.id, rating: button.dataset.rating });
        press(button.dataset.rating);
        notice.textContent = text("thanks");
      } catch {
        notice.textContent = text("notSaved");
      }
    });
  }
  return element;
}

async function copy(words) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(words);
      return true;
    } catch {
      return copyBySelection(words);
    }
  }
  return copyBySelection(words);
}

/** For pages on plain HTTP, where the clipboard interface is off. */
function copyBySelection(words) {
  const area = document.createElement("textarea");
  area.value = words;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** Print this run alone, with its references open. */
function print(article) {
  const opened = [...article.querySelectorAll(".reference:not([open])")];
  const restore = () => {
    delete document.body.dataset.printing;
    article.classList.remove("printed");
    opened.forEach((each) => (each.open = false));
  };
  opened.forEach((each) => (each.open = true));
  document.body.dataset.printing = "one";
  article.classList.add("printed");
  addEventListener("afterprint", restore, { once: true });
  window.print();
}
