import { describe, expect, test } from 'bun:test'
import { Failure } from '../failure.ts'
import { checkPassword, hashPassword } from './password.ts'

describe('passwords', () => {
  test('are stored as Argon2id hashes that match their password only', async () => {
    const hash = await hashPassword('öffne dich')
    expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(await hashPassword('öffne dich')).not.toBe(hash)
    expect(await checkPassword('öffne dich', hash as string)).toBe(true)
    for (const wrong of ['', 'offne dich', 'öffne dich '])
      expect(await checkPassword(wrong, hash as string)).toBe(false)
  })

  test('undefined and null stay as they are', async () => {
    expect([await hashPassword(undefined), await hashPassword(null)]).toEqual([undefined, null])
  })

  test('too many at once are refused with Retry-After, and the queue empties', async () => {
    const hash = (await hashPassword('x')) as string
    const asked = await Promise.allSettled(Array.from({ length: 55 }, () => checkPassword('x', hash)))
    const refused = asked.filter((one) => one.status === 'rejected').map(({ reason }) => reason)
    expect(asked.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(52)
    expect(refused).toHaveLength(3)
    for (const failure of refused) {
      expect(failure).toBeInstanceOf(Failure)
      expect([failure.code, failure.detail.retryAfter]).toEqual(['unavailable', 1])
    }
    expect(await checkPassword('x', hash)).toBe(true)
  }, 120_000)
})
