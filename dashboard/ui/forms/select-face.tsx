// The content of a Select’s button, the same before and after its list is loaded, and the properties of the list.

import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import type { SelectOption } from './read-options.ts'

export type SelectButtonProps = Omit<
  ComponentProps<'button'>,
  'value' | 'onChange' | 'name' | 'children' | 'ref'
>

export interface OpenSelectProps extends SelectButtonProps {
  options: SelectOption[]
  chosen: SelectOption | undefined
  choose: (value: string) => void
}

export const SelectFace = ({ chosen }: { chosen: SelectOption | undefined }) => (
  <>
    <span className="min-w-0 flex-1 truncate">{chosen?.label}</span>
    <ChevronDown size={15} aria-hidden className="shrink-0 text-soft" />
  </>
)
