// Reads `<option>` elements as data: people see them in a list of the page's own.

import { Children, isValidElement, type ReactNode } from 'react'

export interface SelectOption {
  value: string
  label: ReactNode
  /** The results of a search. */
  text: string
  disabled?: boolean
}

interface OptionProps {
  value?: string | number
  disabled?: boolean
  children?: ReactNode
}

const toText = (node: ReactNode): string =>
  Children.toArray(node)
    .map((each) => (isValidElement<OptionProps>(each) ? toText(each.props.children) : String(each)))
    .join('')

/** An option without a value has its text as its value, as in HTML. */
export const readOptions = (children: ReactNode): SelectOption[] =>
  Children.toArray(children).flatMap((each) => {
    if (!isValidElement<OptionProps>(each)) return []
    const { value, disabled, children: label } = each.props
    if (each.type !== 'option') return readOptions(label)
    const text = toText(label)
    return [{ value: String(value ?? text), label, text, disabled }]
  })
