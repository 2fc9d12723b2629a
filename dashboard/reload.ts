// Reloads the page when the server serves another build. Only `npm run dev` has this in the bundle (see main.tsx).

const POLL_MS = 500

/**
 * The names of the page's bundled files. Each name has a hash of its content, so that another build has other names.
 */
const listAssetNames = (page: Document) =>
  [...page.querySelectorAll('script[src], link[rel=stylesheet]')]
    .map((element) => element.getAttribute('src') ?? element.getAttribute('href'))
    .filter((name) => name?.startsWith('/app/assets/'))

export function reloadOnNewBuild(): void {
  const loaded = listAssetNames(document)
  setInterval(async () => {
    // A server that is restarting does not answer yet: the next poll tries again.
    const response = await fetch('/app').catch(() => undefined)
    if (!response?.ok) return
    const page = await response.text()
    if (!loaded.every((name) => page.includes(`"${name}"`))) location.reload()
  }, POLL_MS)
}
