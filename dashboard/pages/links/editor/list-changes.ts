// Lists what differs between two versions of a link, as a person reads it.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { toScreenName } from '../../../api/field-names.ts'
import { formatTime } from '../../../ui/format.ts'
import { describeRule } from '../link/describe-rule.ts'

export interface LinkChange {
  /** As the form calls it. */
  name: string
  before: string
  after: string
}

type Variants = NonNullable<LinkResource['split']>

const NONE = 'none'
const onOff = (value: boolean) => (value ? 'on' : 'off')
const timeOrNone = (iso: string | null) => (iso === null ? NONE : formatTime(iso))
const listTargets = (targets: Record<string, string | undefined>) =>
  Object.entries(targets)
    .map(([name, url]) => `${name}: ${url}`)
    .join(', ')

const listVariants = (variants: Variants) =>
  variants.map(({ label, weight, url }) => `${label} ${weight}\u202f%: ${url}`).join('; ')

/** The settings that the form has, and how each is shown. */
const SETTINGS: [field: string, show: (link: LinkResource) => string | number | null][] = [
  ['destinationUrl', (link) => link.destinationUrl],
  ['domain', (link) => link.domain],
  ['slug', (link) => link.slug],
  ['title', (link) => link.title],
  ['tagIds', (link) => link.tags.map(({ name }) => name).join(', ')],
  ['comments', (link) => link.comments],
  ['rules', (link) => link.rules.map(({ when, to }) => `${describeRule(when)}: ${to}`).join('; ')],
  ['split', (link) => link.split && listVariants(link.split)],
  ['splitEndsAt', (link) => timeOrNone(link.splitEndsAt)],
  ['publicStats', (link) => onOff(link.publicStats)],
  ['extraPath', (link) => onOff(link.extraPath === 'append')],
  ['deviceTargeting', (link) => listTargets(link.deviceTargeting)],
  ['geoTargeting', (link) => listTargets(link.geoTargeting)],
  ['startsAt', (link) => timeOrNone(link.startsAt)],
  ['expiresAt', (link) => timeOrNone(link.expiresAt)],
  ['expiredUrl', (link) => link.expiredUrl],
  ['clickLimit', (link) => link.clickLimit],
  ['leadLimit', (link) => link.leadLimit],
  ['password', (link) => (link.passwordProtected ? 'set' : NONE)],
  ['forwardQuery', (link) => onOff(link.forwardQuery)],
  ['trackConversions', (link) => onOff(link.trackConversions)],
  ['redirectStatus', (link) => link.redirectStatus],
  ['previewTitle', (link) => link.previewTitle],
  ['previewDescription', (link) => link.previewDescription],
  ['previewImage', (link) => link.previewImage],
  ['externalId', (link) => link.externalId],
  ['archived', (link) => onOff(link.archived)],
]

/** Another password is no visible change: the list can be empty. */
export const listChanges = (before: LinkResource, after: LinkResource): LinkChange[] =>
  SETTINGS.flatMap(([field, show]) => {
    const [was, is] = [String(show(before) || NONE), String(show(after) || NONE)]
    return was === is ? [] : [{ name: toScreenName(field), before: was, after: is }]
  })
