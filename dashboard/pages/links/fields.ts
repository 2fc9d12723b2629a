// What every group of fields in the drawer gets.

import type { LinkResource } from '../../../server/features/links/schema.ts'
import { count } from '../../ui/format.ts'
import type { Draft } from './draft.ts'

export interface FieldsProps {
  draft: Draft
  /** Absent while it is new. */
  link: LinkResource | undefined
  /** By field; what belongs to none under ''. */
  errors: Record<string, string>
  onChange: (change: Partial<Draft>) => void
}

/** The server names the member that is wrong: `tagNames.2`. */
export const errorBelow = (errors: Record<string, string>, field: string) =>
  Object.entries(errors).find(([name]) => name === field || name.startsWith(`${field}.`))?.[1]

/** `2 devices, 1 country` */
export const counted = (parts: [number, string, string?][]) =>
  parts
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => count(n, one, many))
    .join(', ')
