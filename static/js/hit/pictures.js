// Pictures: the next ones are fetched ahead, one is shown enlarged, a broken one says so.

const AHEAD = 3;
const large = document.getElementById("large");

export function fetchAhead(questions, index) {
  for (const { image } of questions.slice(index, index + AHEAD + 1)) {
    if (image && image.loading === "lazy") image.loading = "eager";
  }
}

export function toggleLarge(question) {
  const { image } = question;
  if (!image || image.parentElement.classList.contains("is-broken") || closeLarge()) return;
  const copy = image.cloneNode();
  copy.loading = "eager";
  large.querySelector("img")?.remove();
  large.append(copy);
  large.showModal();
  large.scrollTo((large.scrollWidth - large.clientWidth) / 2, (large.scrollHeight - large.clientHeight) / 2);
}

export function closeLarge() {
  const wasOpen = large.open;
  large.close();
  return wasOpen;
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
