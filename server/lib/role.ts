// The roles of people in a workspace (docs/contract.md §9).

export const ROLES = ['owner', 'member'] as const

export type Role = (typeof ROLES)[number]
