// Reloads the page when the server serves another build. Only `npm run dev` has this in the bundle (see main.tsx).

const LOOK_MS = 500

/** Names of built files have the hash of their content, so a page that names others is another build. */
const namesOf = (page: Document) =>
  [...page.querySelectorAll('script[src], link[rel=stylesheet]')]
    .map((element) => element.getAttribute('src') ?? element.getAttribute('href'))
    .filter((name) => name?.startsWith('/app/assets/'))

export function reloadOnNewBuild(): void {
  const loaded = namesOf(document)
  setInterval(async () => {
    // A server that is starting again does not answer yet: the next look will find it.
    const answer = await fetch('/app').catch(() => undefined)
    if (!answer?.ok) return
    const page = await answer.text()
    if (!loaded.every((name) => page.includes(`"${name}"`))) location.reload()
  }, LOOK_MS)
}
