// Writes JSON with Maps as objects in the order of the Map. A plain object would put names that are numbers first, and
// cannot hold the name `__proto__`.

/** As `JSON.stringify`, and takes Maps. For plain data only: no `toJSON` but that of dates, and no cycles. */
export function orderedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof Date)
    return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(orderedJson).join(',')}]`
  let members = ''
  const isMap = value instanceof Map
  for (const [name, inner] of isMap ? value : Object.entries(value))
    if (isMap || inner !== undefined) members += `,${JSON.stringify(String(name))}:${orderedJson(inner)}`
  return `{${members.slice(1)}}`
}
