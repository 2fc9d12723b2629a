// Naive Bayes over the features of a submission. Each feature has a factor: how much more often spam has it than
// other submissions (Graham, "A Plan for Spam"; the correction for rare features is Robinson's).

import { type Features, toLabel } from './features.ts'
import type { FeatureNumbers } from './number-features.ts'

/** In how many submissions of each kind a feature was, and how many submissions of each kind there were. */
export interface SpamModel {
  spam: number
  good: number
  find(number: number): { spam: number; good: number } | undefined
}

/** With fewer of either kind, nothing is known yet. */
export const LESSONS_MIN = 20
const THRESHOLD = 0.995
/** The weight of an unseen feature, in submissions. */
const DOUBT = 1
/** Only the strongest features count, so that a hundred harmless words cannot hide a few typical ones. */
const FEATURES_WEIGHED = 15
/** Features depend on each other, so their sum says too much. Chosen for few false positives: docs/adr/0054-spam.md. */
const DAMPING = 0.4
/** One or two words alone call nothing spam. */
const TELLING_MIN = 3
const REASONS = 4

export const isTrained = ({ spam, good }: Pick<SpamModel, 'spam' | 'good'>) =>
  spam >= LESSONS_MIN && good >= LESSONS_MIN

interface Weight {
  feature: string
  /** The logarithm of the factor. Positive for spam. */
  log: number
}

export interface Classification {
  /** Between 0 and 1. */
  probability: number
  isSpam: boolean
  /** The features that indicate spam, strongest first. */
  weights: Weight[]
}

/** The weights of features that a model has met: a form's texts have a few hundred words. */
const KNOWN = new WeakMap<SpamModel, Map<string, number>>()
const KNOWN_MAX = 2_000
/** A longer name is seldom that of a word. */
const KNOWN_LENGTH = 40

function findKnown(model: SpamModel): Map<string, number> {
  let known = KNOWN.get(model)
  if (!known || known.size > KNOWN_MAX) {
    known = new Map()
    KNOWN.set(model, known)
  }
  return known
}

export function classify(model: SpamModel, features: Features, toNumber: FeatureNumbers): Classification {
  const weights: Weight[] = []
  const known = findKnown(model)
  for (const name of features) {
    let log = known.get(name)
    if (log === undefined) {
      log = weigh(model, model.find(toNumber(name)))
      if (name.length <= KNOWN_LENGTH) known.set(name, log)
    }
    if (Math.abs(log) > 0.2) weights.push({ feature: name, log })
  }
  weights.sort((a, b) => Math.abs(b.log) - Math.abs(a.log))
  const strongest = weights.slice(0, FEATURES_WEIGHED)
  const sum = strongest.reduce((total, { log }) => total + log, 0) * DAMPING
  const probability = 1 / (1 + Math.exp(-sum))
  const telling = strongest.filter(({ log }) => log > 0)
  const isSpam = isTrained(model) && probability >= THRESHOLD && telling.length >= TELLING_MIN
  return { probability, isSpam, weights: telling }
}

function weigh(model: SpamModel, counts: { spam: number; good: number } | undefined): number {
  // Damaged counts must not become infinite.
  const spam = Math.min(Math.max(counts?.spam ?? 0, 0), model.spam)
  const good = Math.min(Math.max(counts?.good ?? 0, 0), model.good)
  const seen = spam + good
  if (seen === 0) return 0
  const share = spam / model.spam / (spam / model.spam + good / model.good)
  const believed = (DOUBT * 0.5 + seen * share) / (DOUBT + seen)
  return Math.log(believed / (1 - believed))
}

/** One sentence, such as: The classifier is 99.8 % sure; strongest: "seo" (31 times as often in spam), 4 links (9 times). */
export function describeClassification({ probability, weights }: Classification): string {
  const percent = (Math.min(Math.floor(probability * 1000), 999) / 10).toFixed(1)
  const strongest = weights
    .slice(0, REASONS)
    .map(
      ({ feature, log }, i) =>
        `${toLabel(feature)} (${toFactor(log)} times${i === 0 ? ' as often in spam' : ''})`,
    )
  return `The classifier is ${percent} % sure; strongest: ${strongest.join(', ')}.`
}

const toFactor = (log: number) => {
  const factor = Math.exp(log)
  return factor < 10 ? factor.toFixed(1) : String(Math.round(factor))
}
