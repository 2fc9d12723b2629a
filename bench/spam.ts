// Measures the spam classifier on a labelled corpus: bun bench/spam.ts [file]. The file has lines of `ham` or `spam`, a
// tab and a text, as the SMS Spam Collection has (https://doi.org/10.24432/C5CC84); without one, the corpus is made up.

import { readFileSync } from 'node:fs'
import { checkRules } from '../server/features/forms/spam/check-rules.ts'
import { classify } from '../server/features/forms/spam/classify.ts'
import { readFeatures } from '../server/features/forms/spam/features.ts'
import { createFeatureNumbers } from '../server/features/forms/spam/number-features.ts'
import { createRandom } from '../server/lib/seeded-random.ts'
import { createSpamCorpus, type LabelledSubmission } from './spam-corpus.ts'

const SIZES = [20, 50, 100, 500]
const ROUNDS = 10
const EACH = 3000

const toNumber = createFeatureNumbers('a secret of the benchmark only', 1)

function readCorpus(path: string): LabelledSubmission[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => {
      const [label, text = ''] = line.split('\t')
      return { isSpam: label === 'spam', fields: new Map([['message', text]]), pageSeconds: null }
    })
}

function shuffle<T>(list: T[], seed: number): T[] {
  const random = createRandom(seed)
  return list
    .map((value) => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

function train(lessons: LabelledSubmission[]) {
  const counts = new Map<number, { spam: number; good: number }>()
  const model = { spam: 0, good: 0, find: (number: number) => counts.get(number) }
  for (const lesson of lessons) {
    const kind = lesson.isSpam ? 'spam' : 'good'
    model[kind]++
    for (const number of new Set([...readFeatures(lesson).keys()].map(toNumber))) {
      const count = counts.get(number) ?? { spam: 0, good: 0 }
      count[kind]++
      counts.set(number, count)
    }
  }
  return model
}

/** Trains on so many of each kind, and judges all others. */
function measure(corpus: LabelledSubmission[], size: number) {
  const totals = { caught: 0, missed: 0, wrong: 0, good: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const shuffled = shuffle(corpus, round + 1)
    const [spam, good] = [shuffled.filter((one) => one.isSpam), shuffled.filter((one) => !one.isSpam)]
    const model = train([...spam.slice(0, size), ...good.slice(0, size)])
    for (const one of [...spam.slice(size), ...good.slice(size)]) {
      const { isSpam } = classify(model, readFeatures(one), toNumber)
      if (one.isSpam) totals[isSpam ? 'caught' : 'missed']++
      else totals[isSpam ? 'wrong' : 'good']++
    }
  }
  return totals
}

const percent = (part: number, of: number) => `${((part / of) * 100).toFixed(2)} %`

function qualityTable(corpus: LabelledSubmission[]): string {
  const rows = SIZES.map((size) => {
    const { caught, missed, wrong, good } = measure(corpus, size)
    const perThousand = ((wrong / (wrong + good)) * 1000).toFixed(2)
    return `| ${[size, percent(caught, caught + wrong), percent(caught, caught + missed), perThousand].join(' | ')} |`
  })
  return [
    '| learned of each kind | precision | recall | false positives per thousand |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')
}

async function costOf(work: (one: LabelledSubmission) => unknown, corpus: LabelledSubmission[]) {
  for (const one of corpus.slice(0, 1000)) await work(one)
  const before = process.cpuUsage()
  for (const one of corpus) await work(one)
  const { user, system } = process.cpuUsage(before)
  return ((user + system) / corpus.length).toFixed(0)
}

async function costTable(corpus: LabelledSubmission[]): Promise<string> {
  const model = train(corpus.slice(0, 1000))
  const spam = {
    words: Array.from({ length: 500 }, (_, i) => (i % 5 === 0 ? `word${i}*` : `casino${i}`)),
    emails: Array.from({ length: 500 }, (_, i) => `*@spam${i}.example`),
    domains: Array.from({ length: 500 }, (_, i) => `spam${i}.example`),
    maxLinks: 100,
    learn: true,
  }
  const rules = await costOf(({ fields }) => checkRules({ spam }, fields), corpus)
  const classifier = await costOf((one) => classify(model, readFeatures(one), toNumber), corpus)
  return [
    '| per submission | processor time |',
    '|---|---|',
    `| 500 rules of each kind | ${rules} µs |`,
    `| the classifier, 500 of each kind learned | ${classifier} µs |`,
  ].join('\n')
}

const [path] = process.argv.slice(2)
const corpus = path === undefined ? createSpamCorpus(18, EACH) : readCorpus(path)
const spam = corpus.filter(({ isSpam }) => isSpam).length
const lines = [
  `${spam} spam, ${corpus.length - spam} good; ${ROUNDS} rounds, other lessons in each`,
  qualityTable(corpus),
  await costTable(corpus),
]
process.stdout.write(`${lines.join('\n\n')}\n`)
