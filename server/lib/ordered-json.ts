// JSON in which a Map is an object in its own order: a plain object puts names that are numbers first, and has no room
// for one called `__proto__`.

/** As `JSON.stringify`, with Maps. Only for plain data: no `toJSON` but that of dates, no cycles. */
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
