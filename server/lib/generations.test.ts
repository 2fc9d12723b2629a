import { describe, expect, test } from 'bun:test'
import { createGenerations } from './generations.ts'

const weigh = (key: string, { text }: { text: string }) => key.length + text.length
const entry = (bytes: number) => ({ text: 'x'.repeat(bytes) })

describe('two generations', () => {
  test('hold at most twice the entries of one, and keep what is used', () => {
    const values = createGenerations<{ n: number }>({ entriesMax: 10 })
    values.set('busy', { n: -1 })
    for (let n = 0; n < 1000; n++) {
      values.set(`k${n}`, { n })
      expect(values.get('busy')).toEqual({ n: -1 })
    }
    const kept = Array.from({ length: 1000 }, (_, n) => values.get(`k${n}`)).filter(Boolean)
    expect(kept.length).toBeLessThanOrEqual(20)
  })

  test('weigh at most twice the bytes of one, and count a removed entry no more', () => {
    const values = createGenerations({ entriesMax: 1000, bytesMax: 1000, weigh })
    for (let n = 0; n < 500; n++) {
      values.set(`k${n % 60}`, entry(n % 97))
      expect(values.bytes()).toBeLessThanOrEqual(2000)
      if (n % 7 === 0) values.delete(`k${n % 50}`)
    }
    values.deleteWhere(() => true)
    expect(values.bytes()).toBe(0)
    values.set('a', entry(10))
    values.set('a', entry(20))
    expect(values.bytes()).toBe(21)
    values.clear()
    expect(values.bytes()).toBe(0)
  })

  test('do not hold an entry that is heavier than a generation, nor push others out for it', () => {
    const values = createGenerations({ entriesMax: 10, bytesMax: 100, weigh })
    values.set('small', entry(1))
    values.set('huge', entry(1000))
    expect(values.get('huge')).toBeUndefined()
    expect(values.get('small')).toEqual(entry(1))
    values.set('small', entry(1000))
    expect(values.get('small')).toBeUndefined()
  })
})
