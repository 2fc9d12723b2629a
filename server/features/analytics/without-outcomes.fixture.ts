// Drops what an answer says of outcomes where there are none, for tests of the other members.

const NONE = { qualified: 0, won: 0, value: null }

// biome-ignore lint/suspicious/noExplicitAny: answers of any grouping
export function withoutOutcomes(data: any): any {
  if (Array.isArray(data)) return data.map(withoutOutcomes)
  const { qualified, won, value, ...rest } = data
  if (!Bun.deepEquals({ qualified, won, value }, NONE))
    throw new Error(`has outcomes: ${JSON.stringify(data)}`)
  return rest
}
