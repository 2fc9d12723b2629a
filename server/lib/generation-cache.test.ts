import { expect, test } from 'bun:test'
import { createGenerationCache } from './generation-cache.ts'

test('returns recent values without computing them again, and never exceeds the bound', () => {
  let made = 0
  const { get, clear } = createGenerationCache(1000, (text) => ({ text, number: made++ }))
  const first = get('first')
  for (let i = 0; i < 499; i++) get(`x${i}`)
  expect(get('first')).toBe(first)
  expect(made).toBe(500)
  for (let i = 0; i < 1000; i++) get(`y${i}`)
  expect(get('first')).not.toBe(first)
  expect(get('first').text).toBe('first')
  clear()
  get('y999')
  expect(made).toBe(1502)
})

test('does not keep texts that no honest visitor sends', () => {
  let made = 0
  const { get } = createGenerationCache(1000, () => ({ number: made++ }))
  const long = 'x'.repeat(3000)
  get(long)
  get(long)
  expect(made).toBe(2)
})
