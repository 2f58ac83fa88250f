// Pictures: the next ones are fetched ahead, one enlarges in place, a broken one says so.

const AHEAD = 3;

export function fetchAhead(questions, index) {
  for (const { image } of questions.slice(index, index + AHEAD + 1)) {
    if (image && image.loading === "lazy") image.loading = "eager";
  }
}

export function toggleLarge(question) {
  const stage = question.image?.parentElement;
  if (!stage || stage.classList.contains("is-broken")) return;
  if (!closeLarge()) stage.classList.add("is-large");
}

export function closeLarge() {
  const large = document.querySelector(".stage.is-large");
  large?.classList.remove("is-large");
  return large !== null;
}

export function watchForBroken(questions, onReport) {
  for (const question of questions) {
    const { image } = question;
    if (!image) continue;
    image.addEventListener("error", () => showBroken(question, onReport));
    image.addEventListener("load", () => showWhole(image.parentElement));
    if (image.complete && image.naturalWidth === 0 && image.loading !== "lazy") {
      showBroken(question, onReport);
    }
  }
}

function showWhole(stage) {
  stage.classList.remove("is-broken");
  stage.querySelector(".notice")?.remove();
}

function showBroken(question, onReport) {
  const stage = question.image.parentElement;
  showWhole(stage);
  stage.classList.add("is-broken");
  stage.append(document.querySelector("#broken-image").content.cloneNode(true));
  stage.querySelector("[data-action=reload]").addEventListener("click", () => {
    question.image.src = question.image.getAttribute("src");
  });
  stage.querySelector("[data-action=report]").addEventListener("click", () => onReport(question));
}
