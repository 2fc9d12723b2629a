import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type DeliveryTiming, planDelivery } from './plan-delivery.ts'

const plan = (timing: Partial<DeliveryTiming>, at: string) =>
  new Date(planDelivery({ digest: null, quietHours: null, ...timing }, Date.parse(at))).toISOString()

const berlin = (start: string, end: string) => ({ start, end, timezone: 'Europe/Berlin' })

describe('a delivery', () => {
  test.each([
    ['2026-05-10T12:00:00.001Z', '2026-05-10T13:00:00.000Z'],
    ['2026-05-10T12:59:59.999Z', '2026-05-10T13:00:00.000Z'],
    ['2026-05-10T13:00:00.000Z', '2026-05-10T14:00:00.000Z'],
  ])('of an hourly digest that happens at %s is due at %s', (at, due) => {
    expect(plan({ digest: 'hour' }, at)).toBe(due)
  })

  test.each([
    ['2026-05-10T07:59:59.999Z', 'UTC', '2026-05-10T08:00:00.000Z'],
    ['2026-05-10T08:00:00.000Z', 'UTC', '2026-05-11T08:00:00.000Z'],
    // 08:00 in Berlin is 06:00 UTC in summer and 07:00 in winter: the day between has 25 hours.
    ['2026-10-24T06:00:00.000Z', 'Europe/Berlin', '2026-10-25T07:00:00.000Z'],
    ['2026-10-25T07:00:00.000Z', 'Europe/Berlin', '2026-10-26T07:00:00.000Z'],
    ['2026-03-28T07:00:00.000Z', 'Europe/Berlin', '2026-03-29T06:00:00.000Z'],
  ])('of a daily digest that happens at %s in %s is due at %s', (at, timezone, due) => {
    const quietHours = timezone === 'UTC' ? null : { start: '22:00', end: '07:00', timezone }
    expect(plan({ digest: 'day', quietHours }, at)).toBe(due)
  })

  test.each([
    ['22:00', '07:00', '2026-05-10T19:59:59.999Z', '2026-05-10T19:59:59.999Z'],
    ['22:00', '07:00', '2026-05-10T20:00:00.000Z', '2026-05-11T05:00:00.000Z'],
    ['22:00', '07:00', '2026-05-11T04:59:59.999Z', '2026-05-11T05:00:00.000Z'],
    ['22:00', '07:00', '2026-05-11T05:00:00.000Z', '2026-05-11T05:00:00.000Z'],
    ['12:00', '13:00', '2026-05-10T10:30:00.000Z', '2026-05-10T11:00:00.000Z'],
    ['12:00', '13:00', '2026-05-10T11:30:00.000Z', '2026-05-10T11:30:00.000Z'],
    // The clocks go back in the night: it has an hour more. They go forward: an hour less.
    ['22:00', '07:00', '2026-10-24T20:30:00.000Z', '2026-10-25T06:00:00.000Z'],
    ['22:00', '07:00', '2026-03-28T21:30:00.000Z', '2026-03-29T05:00:00.000Z'],
    // No clock shows 02:30 on that day: they go from 02:00 to 03:00.
    ['22:00', '02:30', '2026-03-28T23:00:00.000Z', '2026-03-29T01:00:00.000Z'],
    // Clocks show 02:10 twice, the second time after the first 02:30.
    ['22:00', '02:30', '2026-10-25T01:10:00.000Z', '2026-10-25T01:30:00.000Z'],
  ])('with quiet hours from %s to %s in Berlin that happens at %s is due at %s', (start, end, at, due) => {
    expect(plan({ quietHours: berlin(start, end) }, at)).toBe(due)
  })

  test('of a digest that would end in quiet hours is due at their end', () => {
    expect(plan({ digest: 'hour', quietHours: berlin('22:00', '07:00') }, '2026-05-10T19:30:00Z')).toBe(
      '2026-05-11T05:00:00.000Z',
    )
    expect(plan({ digest: 'day', quietHours: berlin('22:00', '09:00') }, '2026-05-10T19:30:00Z')).toBe(
      '2026-05-11T07:00:00.000Z',
    )
  })

  test('is never due before it happens, within two days, and outside quiet hours', () => {
    const clock = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    ]
    const timing = fc.record({
      digest: fc.constantFrom(null, 'hour' as const, 'day' as const),
      quietHours: fc.record({ start: clock, end: clock, timezone: fc.constantFrom(...zones) }),
    })
    const moments = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2027, 0) })
    fc.assert(
      fc.property(timing, moments, (each, at) => {
        fc.pre(each.quietHours.start !== each.quietHours.end)
        const due = planDelivery(each, at)
        expect(due).toBeGreaterThanOrEqual(at)
        expect(due - at).toBeLessThan(50 * 60 * 60_000)
        expect(planDelivery({ ...each, digest: null }, due)).toBe(due)
      }),
      { numRuns: 500 },
    )
  })
})
