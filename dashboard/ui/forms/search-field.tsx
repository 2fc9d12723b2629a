// A search field with a magnifier icon.

import { Search } from 'lucide-react'
import type { ComponentProps } from 'react'
import { classNames } from '../class-names.ts'
import { Input } from './field.tsx'

/** @param label the accessible name */
export const SearchField = ({
  label,
  className,
  ...props
}: Omit<ComponentProps<'input'>, 'type'> & { label: string }) => (
  <div className={classNames('relative', className)}>
    <Search size={16} className="pointer-events-none absolute top-2.5 left-3 text-soft" aria-hidden />
    <Input type="search" aria-label={label} maxLength={200} autoComplete="off" className="pl-9!" {...props} />
  </div>
)
