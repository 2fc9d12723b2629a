import { describe, expect, test } from 'bun:test'
import { Failure } from '../failure.ts'
import { checkPassword, hashPassword } from './password.ts'

describe('passwords', () => {
  test('are stored as Argon2id hashes that match their password only', async () => {
    const hash = await hashPassword('öffne dich', 'people')
    expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(await hashPassword('öffne dich', 'people')).not.toBe(hash)
    expect(await checkPassword('öffne dich', hash as string, 'people')).toBe(true)
    for (const wrong of ['', 'offne dich', 'öffne dich '])
      expect(await checkPassword(wrong, hash as string, 'people')).toBe(false)
  })

  test('undefined and null stay as they are', async () => {
    expect([await hashPassword(undefined, 'people'), await hashPassword(null, 'people')]).toEqual([
      undefined,
      null,
    ])
  })

  test('too many at once are refused with Retry-After, and the queue empties', async () => {
    const hash = (await hashPassword('x', 'people')) as string
    const startedAt = performance.now()
    const asked = await Promise.allSettled(
      Array.from({ length: 55 }, () => checkPassword('x', hash, 'people')),
    )
    const isLate = performance.now() - startedAt > 10_000
    const refused = asked.filter((one) => one.status === 'rejected').map(({ reason }) => reason)
    for (const failure of refused) {
      expect(failure).toBeInstanceOf(Failure)
      expect([failure.code, failure.detail.retryAfter]).toEqual(['unavailable', 1])
    }
    const [atOnce, later] = ['too many passwords at once', 'the queue of passwords is too slow'].map(
      (cause) => refused.filter(({ detail }) => detail.cause === cause).length,
    ) as [number, number]
    expect([atOnce, atOnce + later]).toEqual([3, refused.length])
    // A slow machine refuses more of them, after ten seconds.
    if (!isLate) expect(later).toBe(0)
    expect(asked.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(52 - later)
    expect(await checkPassword('x', hash, 'people')).toBe(true)
  }, 120_000)

  test('of links wait apart from those of people, and each gets its share', async () => {
    const hash = (await hashPassword('x', 'people')) as string
    const order: string[] = []
    const ask = (purpose: 'people' | 'links') =>
      checkPassword('x', hash, purpose).then(
        () => order.push(purpose),
        () => order.push('refused'),
      )
    const links = Array.from({ length: 60 }, () => ask('links'))
    const people = Array.from({ length: 10 }, () => ask('people'))
    await Promise.all(people)
    // The slots alternate: a person waits for about one hash of a link, not for fifty.
    expect(order.filter((each) => each === 'links').length).toBeLessThan(20)
    await Promise.all(links)
    // At once, before any hash. A slow machine refuses more of them, after ten seconds.
    expect(order.findIndex((each) => each !== 'refused')).toBe(8)
  }, 120_000)
})
