// A judge that cannot judge lets submissions pass, and says so in the log; nobody waits for it.

import { expect, test } from 'bun:test'
import { NO_SPAM_RULES } from '../settings/form-defaults.ts'
import { classify, describeClassification } from './classify.ts'
import { readFeatures } from './features.ts'
import { createSpamJudge } from './judge-spam.ts'
import { createFeatureNumbers } from './number-features.ts'
import type { WorkspaceSpam } from './workspace-spam.ts'

const form = { id: 1, workspaceId: 1, spam: { ...NO_SPAM_RULES, words: ['casino'], learn: true } }
const submission = { fields: new Map([['message', 'casino']]), email: undefined }
const toNumber = createFeatureNumbers('secret', 1)

const judgeWith = (get: () => Promise<WorkspaceSpam>) => createSpamJudge({ get })(form, submission)

test('a database that is away, or does not answer, makes nothing spam', async () => {
  expect(await judgeWith(() => Promise.reject(new Error('away')))).toEqual([])
  expect(await judgeWith(() => new Promise(() => {}))).toEqual([])
})

test('damaged counts make nothing spam, and no reason has a number that is none', async () => {
  for (const count of [Number.NaN, -5, 1e12, Number.POSITIVE_INFINITY]) {
    const model = { spam: 20, good: 20, find: () => ({ spam: count, good: count }) }
    const features = readFeatures({ fields: submission.fields, pageSeconds: 1 })
    const result = classify(model, features, toNumber)
    expect([result.isSpam, Number.isFinite(result.probability)]).toEqual([false, true])
    expect(describeClassification(result)).not.toMatch(/NaN|Infinity/)
  }
  const nothing = { spam: 0, good: 0, find: () => undefined }
  expect(classify(nothing, readFeatures({ fields: new Map(), pageSeconds: null }), toNumber).isSpam).toBe(
    false,
  )
})

test('a form without rules needs neither the database nor the counts', async () => {
  const judge = createSpamJudge({ get: () => Promise.reject(new Error('asked')) })
  expect(await judge({ ...form, spam: NO_SPAM_RULES }, submission)).toEqual([])
})

test('the features of a megabyte are few, and have no address of a person', () => {
  const fields = new Map([
    ['email', 'ada.lovelace@example.com'],
    [
      'message',
      Array.from(
        { length: 100_000 },
        (_, i) => `w${(i % 77).toString(36)}x${String.fromCharCode(97 + (i % 26))}`,
      ).join(' '),
    ],
  ])
  const names = [...readFeatures({ fields, pageSeconds: 4 }).keys()]
  expect(names.length).toBeLessThanOrEqual(250)
  expect(names).toContain('from:example.com')
  expect(names).toContain('timing:10')
  expect(names.join()).not.toContain('lovelace')
})
