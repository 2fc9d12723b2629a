// The grammar of a filter, as the API has it: `US` is, `US,BR` any of, a leading `-` all but these, `\,` a comma and
// `\-` a leading dash. What stands in the address of the page is what the API is asked.

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

/** undefined where no value is left, so that the parameter goes. */
export function writeFilter({ values, negate }: DimensionFilter): string | undefined {
  if (values.length === 0) return undefined
  const written = values.map((value) => value.replace(/[\\,]/g, '\\$&').replace(/^-/, '\\-'))
  return `${negate ? '-' : ''}${written.join(',')}`
}

/**
 * What a click on a value does: it becomes the filter, or joins the values of the same kind, or leaves them. From "is" to
 * "is not" the filter begins anew: nothing is both one of these and none of those.
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
