import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { countMailsLeft, MAIL_KINDS, type MailKind, mayTakeMails } from './mail-share.ts'

const RUNS = { numRuns: atScale({ full: 300, soak: 20_000 }) }

/** A day on which workspaces send as the rule lets them. */
function startDay(perDay: number, isAlone = false) {
  const sent = { accounts: 0, signUps: 0, notifications: 0, confirmations: 0, replies: 0 }
  const owns = new Map<string, number>()
  const getOwn = (workspace: number, kind: MailKind) => owns.get(`${workspace} ${kind}`) ?? 0
  return {
    sent,
    getOwn,
    take(workspace: number, kind: MailKind, mails = 1): boolean {
      const own = getOwn(workspace, kind)
      if (!mayTakeMails({ perDay, sent }, { kind, mails }, { own, isAlone })) return false
      sent[kind] += mails
      owns.set(`${workspace} ${kind}`, own + mails)
      return true
    },
    left: (kind: MailKind) => countMailsLeft({ perDay, sent }, kind),
  }
}
const sumSent = (sent: Record<MailKind, number>) => Object.values(sent).reduce((sum, mails) => sum + mails, 0)

const anyKind = fc.constantFrom(...MAIL_KINDS)
const anyMails = fc.array(fc.tuple(fc.nat(20), anyKind, fc.integer({ min: 1, max: 12 })), { maxLength: 400 })

describe('the share of a day', () => {
  test('never adds up to more than MAIL_PER_DAY, and replies to no more than half', () => {
    const check = (perDay: number, isAlone: boolean, mails: [number, MailKind, number][]) => {
      const day = startDay(perDay, isAlone)
      for (const mail of mails) day.take(...mail)
      expect(sumSent(day.sent)).toBeLessThanOrEqual(perDay)
      expect(day.sent.replies).toBeLessThanOrEqual(Math.ceil(perDay / 2))
    }
    fc.assert(fc.property(fc.integer({ min: 1, max: 300 }), fc.boolean(), anyMails, check), RUNS)
  })

  test('lets a newcomer through in each kind, however many workspaces send what they may', () => {
    const check = (workspaces: number, mails: [number, MailKind, number][]) => {
      const day = startDay(1000)
      for (const mail of mails) if (mail[1] !== 'accounts') day.take(...mail)
      const kinds = MAIL_KINDS.filter((kind) => kind !== 'accounts')
      for (let isMore = true; isMore; ) {
        isMore = false
        for (let n = 0; n < workspaces; n++)
          for (const kind of kinds) isMore = day.take(kind === 'signUps' ? 0 : n, kind) || isMore
      }
      for (const kind of ['notifications', 'confirmations', 'replies'] as const)
        expect([kind, day.take(1_000_000, kind)]).toEqual([kind, true])
      expect(day.take(1_000_000, 'accounts', 10)).toBe(true)
    }
    fc.assert(fc.property(fc.integer({ min: 1, max: 15 }), anyMails, check), { numRuns: 50 })
  })

  test('is equal for all that want more than it, in whatever order they ask', () => {
    const check = (workspaces: number, kind: MailKind, order: number[]) => {
      const day = startDay(1000)
      for (let round = 0; round < 1000; round++)
        for (let n = 0; n < workspaces; n++)
          day.take((n + (order[round % order.length] ?? 0)) % workspaces, kind)
      const owns = Array.from({ length: workspaces }, (_, n) => day.getOwn(n, kind))
      expect(Math.max(...owns) - Math.min(...owns)).toBeLessThanOrEqual(3)
      expect(Math.min(...owns)).toBeGreaterThanOrEqual(Math.floor(3 * day.left(kind)) - 3)
    }
    const kind = fc.constantFrom<MailKind>('notifications', 'confirmations', 'replies')
    const order = fc.array(fc.nat(30), { minLength: 1, maxLength: 20 })
    fc.assert(fc.property(fc.integer({ min: 1, max: 30 }), kind, order, check), { numRuns: 30 })
  })

  test.each([
    ['notifications', 850, 637],
    ['confirmations', 500, 375],
    ['replies', 500, 375],
  ] as const)(
    'of %s is all but what others keep for the only workspace, else three quarters',
    (kind, alone, busy) => {
      for (const [isAlone, mails] of [
        [true, alone],
        [false, busy],
      ] as const) {
        const day = startDay(1000, isAlone)
        while (day.take(1, kind));
        expect([isAlone, day.sent[kind]]).toEqual([isAlone, mails])
      }
    },
  )
})
