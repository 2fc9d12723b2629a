// One tag in a list of tags to choose from.

import { Combobox } from '@base-ui/react/combobox'
import { Check, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { TagDot } from '../../../ui/tag-chip.tsx'
import { type LinkTag, NEW_TAG_ID } from './use-tag-options.ts'

/** @param children shown before the check mark */
export const TagOption = ({ tag, children }: { tag: LinkTag; children?: ReactNode }) => (
  <Combobox.Item
    value={tag}
    className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 outline-none data-highlighted:bg-hover"
  >
    {tag.id === NEW_TAG_ID ? <Plus size={14} /> : <TagDot color={tag.color} />}
    <span className="min-w-0 flex-1 truncate">
      {tag.id === NEW_TAG_ID ? `Create “${tag.name}”` : tag.name}
    </span>
    {children}
    <Combobox.ItemIndicator>
      <Check size={15} className="text-accent" />
    </Combobox.ItemIndicator>
  </Combobox.Item>
)
