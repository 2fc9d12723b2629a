// The colors of a split test's variants, in their order. Each variant has its label beside the color.

import { classNames } from '../../../ui/class-names.ts'

const COLORS = [
  'bg-accent',
  'bg-second',
  'bg-tag-orange',
  'bg-tag-purple',
  'bg-tag-pink',
  'bg-tag-teal',
  'bg-tag-yellow',
  'bg-tag-gray',
]

export const getVariantColor = (index: number) => COLORS[index % COLORS.length] as string

export const VariantDot = ({ index }: { index: number }) => (
  <span className={classNames('size-2.5 shrink-0 rounded-full', getVariantColor(index))} aria-hidden />
)
