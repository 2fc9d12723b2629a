// What the snippet sends of a page view (docs/contract.md §8).

export interface PageViewBody {
  /** Public id of the workspace. */
  w: string
  /** The page's address. */
  u: string
  /** The referrer's; '' for none. */
  r: string
  /** The event id of the page before. */
  e: string | undefined
}

/** @returns what the body says, or what is wrong with it */
export function parsePageViewBody(text: string): PageViewBody | string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return 'Invalid JSON'
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body must be an object'
  const { w, u, r = '', e } = body as Record<string, unknown>
  if (typeof w !== 'string') return 'w: must be the public id of a workspace'
  if (typeof u !== 'string') return "u: must be the page's address"
  if (typeof r !== 'string') return "r: must be the referrer's address"
  // An event id that is none begins a new visit, whatever it is.
  return { w, u, r, e: typeof e === 'string' ? e : undefined }
}
