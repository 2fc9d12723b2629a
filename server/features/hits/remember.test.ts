import { expect, test } from 'bun:test'
import { remember } from './remember.ts'

test('what was asked for lately is not made again, and never more is kept than the bound', () => {
  let made = 0
  const { of, forget } = remember(1000, (text) => ({ text, number: made++ }))
  const first = of('first')
  for (let i = 0; i < 499; i++) of(`x${i}`)
  expect(of('first')).toBe(first)
  expect(made).toBe(500)
  for (let i = 0; i < 1000; i++) of(`y${i}`)
  expect(of('first')).not.toBe(first)
  expect(of('first').text).toBe('first')
  forget()
  of('y999')
  expect(made).toBe(1502)
})
