import { describe, expect, test } from 'bun:test'
import { listVariants, pickClosest } from './similar-slugs.ts'

const pick = (slugKey: string, ...slugs: string[]) =>
  pickClosest(
    slugKey,
    slugs.map((slug) => ({ slugKey: slug })),
  )?.slugKey

describe('the closest slug', () => {
  test('has few mistakes, and no more in a short slug', () => {
    expect(pick('ab', 'ac')).toBeUndefined()
    expect(pick('sael', 'sale')).toBe('sale')
    expect(pick('sa1l', 'mail')).toBeUndefined()
    expect(pick('sumer-slae', 'summer-sale')).toBe('summer-sale')
    expect(pick('newslettr-ovtobr', 'newsletter-october')).toBe('newsletter-october')
    expect(pick('wp-login.php', 'login', 'welcome')).toBeUndefined()
  })

  test('is first of all one that looks the same', () => {
    expect(pick('g00gle', 'go0gles', 'google')).toBe('google')
    expect(pick('bi11', 'bib1', 'bill')).toBe('bill')
    expect(pick('ho1iday', 'holidays', 'holiday')).toBe('holiday')
    expect(pick('summer_sale', 'summer-salt', 'summer-sale')).toBe('summer-sale')
    expect(pick('summersale', 'summer-sale')).toBe('summer-sale')
    expect(pick('caf\u00e9', 'cafes', 'cafe')).toBe('cafe')
    expect(pick('MENU', 'menu')).toBe('menu')
  })

  test('has the same beginning, of those with as many mistakes', () => {
    expect(pick('spring', 'tpring', 'sprang')).toBe('sprang')
    expect(pick('spring', 'sprina', 'sprinb')).toBe('sprina')
  })

  test('is a part up to a separator, or has such a part, when no other is close', () => {
    expect(pick('summer/2026/x', 'summer')).toBe('summer')
    expect(pick('summer/2026/x', 'summer', 'summer/2026')).toBe('summer/2026')
    expect(pick('summer', 'summer-sale-2026', 'summer-sale')).toBe('summer-sale')
    expect(pick('summer', 'summertime-sale')).toBeUndefined()
    expect(pick('su-x-y-z', 'su')).toBeUndefined()
  })

  test('is not the slug itself, nor one without letters', () => {
    expect(pick('sale', 'sale')).toBeUndefined()
    expect(pick('--', '..')).toBeUndefined()
    expect(pick('🎉🎉🎉', '🎉🎉🎈')).toBe('🎉🎉🎈')
  })
})

describe('variants to look up', () => {
  test('have every single mistake, and what looks the same', () => {
    const variants = listVariants('s0ng', false)
    for (const text of ['song', 's0n', '0sng', 's0ngs', 'xs0ng', 's0mg', 's-0ng'])
      expect(variants).toContain(text)
    expect(variants).not.toContain('')
  })

  test('are bounded, however long the slug is', () => {
    expect(listVariants('a'.repeat(40), true).length).toBeLessThan(6_000)
    expect(listVariants(`${'ab-'.repeat(63)}x`, true).length).toBeLessThan(1_000)
  })

  test('have the other cases where case counts', () => {
    expect(listVariants('MENU', true)).toContain('menu')
    expect(listVariants('menu', true)).toContain('Menu')
    expect(listVariants('menu', false)).not.toContain('Menu')
  })
})
