const drop = document.querySelector("[data-drop]");
const input = drop.querySelector("input[type=file]");
const chosen = drop.querySelector("[data-chosen]");

function show() {
  chosen.replaceChildren(
    ...Array.from(input.files, (file) => {
      const line = document.createElement("li");
      line.textContent = `${file.name} (${Math.ceil(file.size / 1024)} KB)`;
      return line;
    }),
  );
}

for (const name of ["dragenter", "dragover"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.dataset.over = "";
  });
}
drop.addEventListener("dragleave", () => delete drop.dataset.over);
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  delete drop.dataset.over;
  input.files = event.dataTransfer.files;
  show();
});
input.addEventListener("change", show);
