// What every group of fields in the drawer gets.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { formatCount } from '../../../ui/format.ts'
import type { LinkDraft } from './link-draft.ts'

export interface LinkFieldsProps {
  draft: LinkDraft
  /** Absent while it is new. */
  link: LinkResource | undefined
  /** By field; what belongs to none under ''. */
  errors: Record<string, string>
  onChange: (change: Partial<LinkDraft>) => void
}

/** The server names the member that is wrong: `loadTagNames.2`. */
export const findNestedError = (errors: Record<string, string>, field: string) =>
  Object.entries(errors).find(([name]) => name === field || name.startsWith(`${field}.`))?.[1]

/** `2 devices, 1 country` */
export const describeCounts = (parts: [number, string, string?][]) =>
  parts
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => formatCount(n, one, many))
    .join(', ')
