// Writes JSON with Maps as objects in the order of the Map. A plain object would put names that are numbers first, and
// cannot hold the name `__proto__`.

/** As `JSON.stringify`, and takes Maps. For plain data only: no `toJSON` but that of dates, and no cycles. */
export function orderedJson(value: unknown): string {
  if (value instanceof Map) {
    return `{${Array.from(value, ([name, inner]) => `${JSON.stringify(String(name))}:${orderedJson(inner)}`).join(',')}}`
  }
  if (Array.isArray(value)) return `[${value.map(orderedJson).join(',')}]`
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    return orderedJson(new Map(Object.entries(value).filter(([, inner]) => inner !== undefined)))
  }
  return JSON.stringify(value) ?? 'null'
}
