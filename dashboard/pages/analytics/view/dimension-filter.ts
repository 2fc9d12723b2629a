// The API's grammar of a filter: `US` one value, `US,BR` any of them, a leading `-` none of them, `\,` a comma and
// `\-` a leading dash. The page's address and the API use the same text.

export interface DimensionFilter {
  values: string[]
  negate: boolean
}

export function readFilter(text: string): DimensionFilter {
  const raw = [...text.matchAll(/(?:^|,)((?:\\[\s\S]|[^,\\]|\\$)*)/g)].map((match) => match[1] ?? '')
  const negate = raw[0]?.startsWith('-') ?? false
  const values = raw.map((part) => (negate ? part.replace(/^-/, '') : part).replace(/\\([\\,-])/g, '$1'))
  return { values: [...new Set(values.filter(Boolean))], negate }
}

/** undefined without values, so that the parameter is removed. */
export function writeFilter({ values, negate }: DimensionFilter): string | undefined {
  if (values.length === 0) return undefined
  const escaped = values.map((value) => value.replace(/[\\,]/g, '\\$&').replace(/^-/, '\\-'))
  return `${negate ? '-' : ''}${escaped.join(',')}`
}

/**
 * Adds a value to a filter, or removes it. A change between "is" and "is not" starts a new filter, because a filter cannot
 * include and exclude values at the same time.
 */
export function toggleValue(
  filter: DimensionFilter | undefined,
  value: string,
  negate: boolean,
): DimensionFilter {
  if (!filter || filter.negate !== negate) return { values: [value], negate }
  const { values } = filter
  return {
    values: values.includes(value) ? values.filter((each) => each !== value) : [...values, value],
    negate,
  }
}
