// Parses the text of /metrics strictly by the format
// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details).

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const HEADER = /^# HELP ([a-z][a-z0-9_]*) (\S[^\n]*)\n# TYPE \1 (gauge|counter|histogram)$/
const SAMPLE = /^([a-z][a-z0-9_]*)(?:\{([^\n]*)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/
const PAIR = /([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?!$)|$)/gy

/** @throws where HELP and TYPE do not stand once before the samples of each name, or a sample is not of the format */
export function parseMetrics(text: string): Sample[] {
  const names = new Set<string>()
  return text
    .trimEnd()
    .split(/\n(?=# HELP)/)
    .flatMap((block) => {
      const [help = '', type = '', ...lines] = block.split('\n')
      const [, name = '', , kind] = HEADER.exec(`${help}\n${type}`) ?? []
      if (name === '' || names.has(name) || lines.length === 0) throw new Error(`no metric: ${block}`)
      if ((kind === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${kind}`)
      names.add(name)
      const suffixes = kind === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      const expected = suffixes.map((suffix) => name + suffix)
      return lines.map((line) => parseSample(expected, line))
    })
}

function parseSample(expected: string[], line: string): Sample {
  const [, name = '', pairs = '', value] = SAMPLE.exec(line) ?? []
  if (!expected.includes(name)) throw new Error(`no sample of ${expected}: ${line}`)
  const matches = [...pairs.matchAll(PAIR)]
  if (matches.map(([text]) => text).join('') !== pairs) throw new Error(`no labels: ${line}`)
  const labels = Object.fromEntries(matches.map(([, label = '', text = '']) => [label, unescapeText(text)]))
  return { name, labels, value: Number(value) }
}

const unescapeText = (text: string) =>
  text.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))

/** The sum of the samples that have these labels among theirs; NaN without any. */
export function sumSamples(samples: Sample[], name: string, labels: Record<string, string> = {}): number {
  const matching = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  )
  return matching.length === 0 ? Number.NaN : matching.reduce((sum, { value }) => sum + value, 0)
}

export const fetchMetrics = async (origin: string): Promise<Sample[]> =>
  parseMetrics(await (await fetch(`${origin}/metrics`)).text())

export const readMetric = async (origin: string, name: string, labels?: Record<string, string>) =>
  sumSamples(await fetchMetrics(origin), name, labels)
