// The colors of a split test's variants, in their order. Each variant has its label beside the color.

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
