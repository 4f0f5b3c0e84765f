// The question box: grows with its text, Enter sends, and the button becomes Stop while a run goes on.

const MAX_CHARACTERS = 4000;
const SHOW_COUNT_FROM = 3500;

export class Composer {
  /** `onAsk(query)` and `onStop()` are called; one at a time. */
  constructor(form, { onAsk, onStop }) {
    this.form = form;
    this.area = form.querySelector("textarea");
    this.askButton = form.querySelector("[data-ask]");
    this.stopButton = form.querySelector("[data-stop]");
    this.counter = form.querySelector("[data-counter]");
    this.busy = false;
    this.onAsk = onAsk;
    this.area.addEventListener("input", () => this.fit());
    this.area.addEventListener("keydown", (event) => {
      // While an input method composes, Enter chooses characters.
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.submit();
      }
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.stopButton.addEventListener("click", onStop);
    this.askButton.disabled = false; // until now the browser itself would have sent the form
    this.fit();
  }

  submit() {
    const query = this.area.value.trim();
    if (this.busy || !query) return;
    this.area.value = "";
    this.fit();
    this.onAsk(query);
  }

  put(query) {
    this.area.value = query;
    this.fit();
    this.area.focus();
  }

  setBusy(busy) {
    const focused = this.form.contains(document.activeElement);
    this.busy = busy;
    this.askButton.hidden = busy;
    this.stopButton.hidden = !busy;
    if (focused) (busy ? this.stopButton : this.area).focus();
  }

  fit() {
    const { area, counter } = this;
    area.rows = 1;
    const line = Number.parseFloat(getComputedStyle(area).lineHeight) || 24;
    area.rows = Math.min(8, Math.max(1, Math.round((area.scrollHeight - 16) / line)));
    const length = [...area.value].length;
    counter.textContent = length >= SHOW_COUNT_FROM ? `${length} / ${MAX_CHARACTERS}` : "";
  }
}
