// Where a list goes on: the sort value and id of the last row seen. Opaque to callers, and stable while rows are
// added, which page numbers are not.

export interface Cursor {
  /** The order it belongs to, such as `clicks desc`. */
  order: string
  value: string | number
  id: number
}

export const encodeCursor = ({ order, value, id }: Cursor) =>
  Buffer.from(JSON.stringify([order, value, id])).toString('base64url')

/** @returns undefined for text that is no cursor of this order. */
export function decodeCursor(text: string, order: string): Cursor | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(parsed) || parsed.length !== 3) return undefined
    const [its, value, id] = parsed
    if (its !== order || !Number.isSafeInteger(id)) return undefined
    if (typeof value !== 'string' && !Number.isSafeInteger(value)) return undefined
    if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return undefined
    return { order, value, id }
  } catch {
    return undefined
  }
}
