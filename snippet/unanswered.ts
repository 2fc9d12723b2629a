// Keeps page views in the session storage of the tab until the server has answered. If a visitor leaves a page
// earlier, the next page of the tab reports them again, so that their source is not lost.

export interface PageView {
  /** The page's address. */
  u: string
  /** The referrer's address. */
  r: string
  /** A random id, so that the server counts a repeated page view once. */
  i: string
  /** The time of the page view. It is not sent. */
  t: number
}

/** The intake accepts 8 KB, and three earlier pages. */
const BODY_MAX = 8000
const EARLIER_MAX = 3
/** A visit ends after half an hour. */
const KEEP_MS = 1_800_000

const toListName = (name: string) => `${name}:pages`

function readUnanswered(name: string): PageView[] {
  try {
    const views: PageView[] = JSON.parse(readText(toListName(name)) ?? '[]')
    return views.filter(({ t }) => Date.now() - t < KEEP_MS)
  } catch {
    // Another script of the page has written there.
    return []
  }
}

export const storeUnanswered = (name: string, views: PageView[]) =>
  storeText(toListName(name), views[0] && JSON.stringify(views))

/** @returns the body that reports this page view, with those before it that the server has not answered */
export function keepUnanswered(name: string, view: PageView, rest: object): string {
  const earlier = readUnanswered(name)
  // The list of names leaves out the time.
  const toBody = () => JSON.stringify({ ...rest, ...view, p: earlier[0] && earlier }, [...'wurepi'])
  // The oldest one stays longest, because it has the visitor's source.
  while (earlier[0] && (earlier.length > EARLIER_MAX || toBody().length > BODY_MAX))
    earlier.splice(earlier.length > 1 ? 1 : 0, 1)
  storeUnanswered(name, [...earlier, view])
  return toBody()
}

/**
 * Drops this page view, and those that were reported with it.
 * @returns false if it is missing, because a later page has already reported it
 */
export function dropAnswered(name: string, { i }: PageView): boolean {
  const views = readUnanswered(name)
  const at = views.findIndex((view) => view.i === i)
  storeUnanswered(name, views.slice(at + 1))
  return at >= 0
}

// A browser can refuse storage, and storage can be full. Then each page is a separate visit.
export function readText(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {}
}

export function storeText(name: string, text?: string) {
  try {
    if (text) sessionStorage.setItem(name, text)
    else sessionStorage.removeItem(name)
  } catch {
    // Storage is refused or full, see above.
  }
}
