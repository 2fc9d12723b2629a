// A tag and its color.

import type { TagResource } from '../../server/features/links/schema.ts'
import { classNames } from './class-names.ts'

export type TagColor = TagResource['color']

// Written out in full, because Tailwind generates styles only for class names that it finds in the source.
const DOT_CLASSES: Record<TagColor, string> = {
  red: 'bg-tag-red',
  orange: 'bg-tag-orange',
  yellow: 'bg-tag-yellow',
  green: 'bg-tag-green',
  teal: 'bg-tag-teal',
  blue: 'bg-tag-blue',
  purple: 'bg-tag-purple',
  pink: 'bg-tag-pink',
  gray: 'bg-tag-gray',
}

export const TagDot = ({ color }: { color: TagColor }) => (
  <span aria-hidden className={classNames('inline-block size-2 shrink-0 rounded-full', DOT_CLASSES[color])} />
)

export const TagChip = ({ tag }: { tag: Pick<TagResource, 'name' | 'color'> }) => (
  <span className="inline-flex max-w-40 items-center gap-1.5 rounded-md border border-line px-1.5 py-0.5 text-xs whitespace-nowrap">
    <TagDot color={tag.color} />
    <span className="truncate">{tag.name}</span>
  </span>
)
