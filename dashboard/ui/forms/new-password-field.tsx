// The field for a new password, with the server's own rule about its length.

import { useQuery } from '@tanstack/react-query'
import { signInOptionsQuery } from '../../api/session.ts'
import { TextField } from './field.tsx'

/** @param secondFactor whether the person has one; undefined where nobody knows who it is */
export function NewPasswordField({
  secondFactor,
  hint = '',
  ...field
}: {
  label: string
  name: string
  secondFactor: boolean | undefined
  hint?: string
  autoFocus?: boolean
  error: string | undefined
}) {
  const { data: options } = useQuery(signInOptionsQuery)
  const rule = options?.password
  const min = rule && (secondFactor === false ? rule.min : rule.minWithSecondFactor)
  return (
    <TextField
      {...field}
      type="password"
      autoComplete="new-password"
      required
      minLength={min}
      maxLength={rule?.max}
      hint={rule && `${toSentence(rule, secondFactor)} ${hint}`.trim()}
    />
  )
}

function toSentence(rule: { min: number; minWithSecondFactor: number }, secondFactor: boolean | undefined) {
  if (secondFactor !== undefined)
    return `At least ${secondFactor ? rule.minWithSecondFactor : rule.min} characters.`
  return `At least ${rule.min} characters, or ${rule.minWithSecondFactor} if you have a second factor.`
}
