import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { Failure } from '../failure.ts'
import { checkPassword, hashPassword, type PasswordPurpose } from './password.ts'

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
    const none = await Promise.all([hashPassword(undefined, 'people'), hashPassword(null, 'people')])
    expect(none).toEqual([undefined, null])
  })
})

describe('the queue of hashes', () => {
  /** The hashes that run. Each ends when the test says so. */
  const running: (() => void)[] = []
  let held: { mockRestore(): void }
  beforeEach(() => {
    held = spyOn(Bun.password, 'verify').mockImplementation(
      () => new Promise((resolve) => running.push(() => resolve(true))),
    )
  })
  afterEach(() => held.mockRestore())

  async function endHash() {
    running.shift()?.()
    // The slot passes on in a few steps of promises.
    await new Promise(setImmediate)
  }

  test('runs two at a time, refuses what is too much at once with Retry-After, and empties', async () => {
    const asked = Array.from({ length: 55 }, () => checkPassword('x', 'a hash', 'people'))
    const settled = Promise.allSettled(asked)
    await new Promise(setImmediate)
    while (running.length > 0) {
      expect(running.length).toBeLessThanOrEqual(2)
      await endHash()
    }
    const answers = await settled
    expect(answers.slice(0, 52)).toEqual(Array(52).fill({ status: 'fulfilled', value: true }))
    for (const answer of answers.slice(52)) {
      if (answer.status === 'fulfilled') throw new Error('a hash beyond the queue has run')
      expect(answer.reason).toBeInstanceOf(Failure)
      expect([answer.reason.code, answer.reason.detail.retryAfter]).toEqual(['unavailable', 1])
    }
  })

  test('keeps links apart from people, and each gets its share', async () => {
    const order: string[] = []
    const ask = (purpose: PasswordPurpose) =>
      checkPassword('x', 'a hash', purpose).then(
        () => order.push(purpose),
        () => order.push('refused'),
      )
    const asked = [
      ...Array.from({ length: 60 }, () => ask('links')),
      ...Array.from({ length: 5 }, () => ask('people')),
    ]
    await new Promise(setImmediate)
    expect(order).toEqual(Array(8).fill('refused'))
    while (running.length > 0) await endHash()
    await Promise.all(asked)
    // The slots alternate: a person waits for about one hash of a link, not for fifty.
    expect(order.slice(8, 19).filter((each) => each === 'people')).toHaveLength(5)
    expect(order.filter((each) => each === 'links')).toHaveLength(52)
  })
})
