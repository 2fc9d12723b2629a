// Invariants of the hit pipeline after a history: they hold once everything works again.

import type { Hit } from '../../../server/storage/hits/hit.ts'
import { type SimulatedInstallation, SPOOL_DIR } from './installation.ts'

/** A request to a link. */
export interface ClickAnswered {
  serial: number
  linkId: number
  /** When it was stored, at the latest. */
  at: number
  /** It need not be in the engine: it was not answered, or the disk may have lost it as the documents say. */
  isOptional: boolean
  /** It waits in the server's memory. */
  hasWaited: boolean
  /** Its server was killed before the sync. */
  isUnsynced: boolean
}

/** The last text of a hit's record: a hit that is torn does not have it. */
export const toCampaign = (serial: number) => `campaign-${serial}`

/** In no file of the spool at the end. */
export const VISITOR_ADDRESS = '203.0.113.77'

/** @returns what is wrong; undefined where nothing is */
export function checkHits(
  place: SimulatedInstallation,
  clicks: readonly ClickAnswered[],
): string | undefined {
  const { hits } = place.stores.engine
  return (
    findWrongCount(hits, clicks) ?? findRepeatedId(place) ?? findWrongCounter(place) ?? findAddress(place)
  )
}

/** The model: a list of the clicks that were answered. A click's serial number is its workspace. */
function findWrongCount(hits: readonly Hit[], clicks: readonly ClickAnswered[]): string | undefined {
  const counts = new Map<number, number>()
  for (const { workspaceId: serial, utmCampaign } of hits) {
    if (utmCampaign !== toCampaign(serial))
      return `click ${serial} is damaged: its campaign is ${utmCampaign}`
    counts.set(serial, (counts.get(serial) ?? 0) + 1)
  }
  for (const click of clicks) {
    const count = counts.get(click.serial) ?? 0
    counts.delete(click.serial)
    if (count > 1) return `click ${click.serial} is counted ${count} times`
    if (count === 0 && !click.isOptional) return `click ${click.serial} at ${click.at.toFixed(3)} ms is lost`
  }
  const [unknown] = counts.keys()
  return unknown === undefined ? undefined : `nobody has clicked ${unknown}`
}

function findRepeatedId({ stores }: SimulatedInstallation): string | undefined {
  const ids = new Set<number>()
  for (const { id } of stores.engine.hits) {
    if (ids.has(id)) return `two hits have the id ${id}`
    ids.add(id)
  }
  return undefined
}

function findWrongCounter({ stores: { engine, clicks } }: SimulatedInstallation): string | undefined {
  const links = Map.groupBy(engine.hits, ({ linkId }) => linkId)
  for (const linkId of new Set([...links.keys(), ...clicks.keys()])) {
    const [inEngine, counted] = [links.get(linkId)?.length ?? 0, clicks.get(linkId) ?? 0]
    if (inEngine !== counted) return `link ${linkId} counts ${counted} clicks, and the engine has ${inEngine}`
  }
  return undefined
}

/** Addresses end in the spool. */
function findAddress({ disk }: SimulatedInstallation): string | undefined {
  for (const [name, { cache, size }] of disk.find(SPOOL_DIR)?.entries ?? [])
    if (Buffer.from(cache.buffer, cache.byteOffset, size).includes(VISITOR_ADDRESS))
      return `${name} still has the address of a visitor`
  return undefined
}
