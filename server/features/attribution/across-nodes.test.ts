// A visitor clicks on one node and sends a form to another: the submission waits until that node has shipped the click.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../../../tests/support/until.ts'
import { setLogLevel } from '../../lib/log.ts'
import { createRawHit } from '../hits/spool/raw-hit.fixture.ts'
import {
  decide,
  type Form,
  type House,
  links,
  NOON,
  newForm,
  type Others,
  openHouse,
  states,
  submit,
} from './inference-house.fixture.ts'

setLogLevel('silent')

/** This node's knowledge of the other one. Each test sets it. */
const others: Others = { shippedUntil: NOON, now: NOON }
let house: House
beforeAll(async () => {
  house = await openHouse('sqlite', undefined, others)
  await until('the hit engine is open', () => house.hitWorker.state().engineUp)
})
afterAll(() => house?.close())

/** A hit of the other node reaches the hit store. */
const ship = ({ spool }: House, { workspaceId }: Form, linkId: number, at: number) =>
  spool.append(createRawHit({ workspaceId, at, linkId }))

describe('a submission, while another node may still have the click', () => {
  test('is pending until that node has shipped a quarter of a second past it, and then gets the link', async () => {
    Object.assign(others, { shippedUntil: NOON + 1249, now: NOON + 2000 })
    const form = await newForm(house)
    house.questions = 0
    await submit(house, form, [{ at: NOON + 1000 }])
    await house.attribution.resolveAllPending()
    await house.attribution.resolvePendingAttribution(form.workspaceId)
    expect([await states(house, form), house.questions]).toEqual([['due'], 0])
    ship(house, form, 42, NOON)
    others.shippedUntil = NOON + 1250
    await until('the job decides it', async () => {
      await house.attribution.resolveAllPending()
      return !(await states(house, form)).includes('due')
    })
    expect(await links(house, form)).toEqual([42])
  })

  test('is decided for a reader as soon as the other node has caught up', async () => {
    Object.assign(others, { shippedUntil: NOON, now: NOON + 2000 })
    const form = await newForm(house)
    house.questions = 0
    await submit(house, form, [{ at: NOON + 1000 }])
    const read = house.attribution.resolvePendingAttribution(form.workspaceId)
    ship(house, form, 42, NOON)
    others.shippedUntil = NOON + 1250
    await read
    await decide(house, form)
    expect(await links(house, form)).toEqual([42])
  })

  test('holds up neither a reader for long, nor an older submission, nor another workspace', async () => {
    Object.assign(others, { shippedUntil: NOON + 2000, now: NOON + 60_000 })
    const form = await newForm(house)
    house.questions = 0
    const other = await newForm(house)
    await submit(house, form, [{ at: NOON + 50_000 }, { at: NOON + 1000 }])
    await submit(house, other, [{ at: NOON + 1000 }])
    ship(house, form, 42, NOON)
    // Each of these would wait for two seconds, and all for longer than the test may take.
    for (let n = 0; n < 20; n++) await house.attribution.resolvePendingAttribution(form.workspaceId)
    await until('the job decides the rest', async () => {
      await house.attribution.resolveAllPending()
      return !(await states(house, other)).includes('due')
    })
    expect(await states(house, form)).toEqual(['due', 'inferred'])
  }, 30_000)

  test('waits for this node too: a submission of a node whose clock is ahead', async () => {
    Object.assign(others, { shippedUntil: NOON + 9000, now: NOON + 1000 })
    const form = await newForm(house)
    house.questions = 0
    await submit(house, form, [{ at: NOON + 900 }])
    await house.attribution.resolveAllPending()
    expect(await states(house, form)).toEqual(['due'])
    ship(house, form, 42, NOON + 899)
    others.now = NOON + 1150
    await decide(house, form)
    expect(await links(house, form)).toEqual([42])
  })
})
