// Props that all field groups of the link editor share.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import type { LinkDraft } from './link-draft.ts'

export interface LinkFieldsProps {
  draft: LinkDraft
  /** undefined for a new link. */
  link: LinkResource | undefined
  /** Messages by field; a message that belongs to no field is under `general`. */
  errors: Record<string, string>
  onChange: (change: Partial<LinkDraft>) => void
}

/** `2 devices, 1 country` */
export const joinTexts = (parts: (string | false)[]) => parts.filter((part) => part !== false).join(', ')
