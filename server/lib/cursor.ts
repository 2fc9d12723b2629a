// Cursors of lists: the sort value and the id of the last row seen. They are opaque to callers. Unlike a page number,
// a cursor stays correct while rows are added.

export interface Cursor {
  /** The order of the list, such as `clicks desc`. */
  order: string
  value: string | number
  id: number
}

export const encodeCursor = ({ order, value, id }: Cursor) =>
  Buffer.from(JSON.stringify([order, value, id])).toString('base64url')

/** @returns undefined when the text is not a cursor of this order */
export function decodeCursor(text: string, order: string): Cursor | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(parsed) || parsed.length !== 3) return undefined
    const [parsedOrder, value, id] = parsed
    if (parsedOrder !== order || !Number.isSafeInteger(id)) return undefined
    if (typeof value !== 'string' && !Number.isSafeInteger(value)) return undefined
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return undefined
    return { order, value, id }
  } catch {
    return undefined
  }
}
