// Recognizes a web address in the palette's text.

const URL_MAX = 8192
const WITH_SCHEME = /^https?:\/\/\S+$/i
/** A host with a dot and a top-level domain, such as `example.com/x`. An email address is none. */
const WITHOUT_SCHEME = /^[a-z\d-]+(\.[a-z\d-]+)*\.[a-z]{2,}(:\d+)?([/?#]\S*)?$/i

/** The address with its scheme; undefined for a text that cannot be the destination of a link. */
export function findPastedUrl(text: string): string | undefined {
  const trimmed = text.trim()
  const url = WITH_SCHEME.test(trimmed)
    ? trimmed
    : WITHOUT_SCHEME.test(trimmed)
      ? `https://${trimmed}`
      : undefined
  const parsed = url === undefined || url.length > URL_MAX ? null : URL.parse(url)
  return parsed && parsed.username === '' && parsed.password === '' ? url : undefined
}
