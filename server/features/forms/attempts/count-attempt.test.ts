import { expect, test } from 'bun:test'
import { EndpointError } from '../endpoint/endpoint-error.ts'
import type { SubmissionOutcome } from '../endpoint/responses.ts'
import { countAttempt, countRefusedAttempt } from './count-attempt.ts'

const FORM = { id: 7, requiredFields: ['name', 'message'], rules: {} }

function counted(run: (attempts: { count(...args: unknown[]): void }) => void) {
  const counts: unknown[][] = []
  run({ count: (...args) => void counts.push(args) })
  return counts
}

test.each<[string, SubmissionOutcome, unknown[][]]>([
  ['stored', { kind: 'accepted' }, [[7, 'stored']]],
  ['caught', { kind: 'accepted', trapped: true }, [[7, 'honeypot']]],
  ['without a captcha', { kind: 'captcha', error: 'Captcha verification failed' }, [[7, 'captcha']]],
  [
    'wrong in two fields of the form and in one that only its sender knows',
    {
      kind: 'invalid',
      errors: new Map([
        ['message', 'This field is required'],
        ['email', 'Enter a valid email address'],
        ['jo@example.com', 'Must be a string'],
      ]),
      mistakes: new Map(),
    },
    [
      [7, 'validation'],
      [7, 'validation', 'message'],
      [7, 'validation', 'email'],
    ],
  ],
])(
  'an attempt that was %s counts once, and once for each wrong field that the owner named',
  (_, outcome, counts) => {
    expect(counted((attempts) => countAttempt(attempts, FORM, outcome))).toEqual(counts)
  },
)

test.each([
  [429, [[7, 'rateLimited']]],
  [403, [[7, 'origin']]],
  [413, [[7, 'tooLarge']]],
  [400, [[7, 'unreadable']]],
  [415, [[7, 'unreadable']]],
  [404, []],
  [500, []],
  [503, []],
])('a refusal with %d counts as %p', (status, counts) => {
  expect(counted((attempts) => countRefusedAttempt(attempts, 7, new EndpointError(status, 'No')))).toEqual(
    counts,
  )
})
