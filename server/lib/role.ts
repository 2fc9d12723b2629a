// The roles of people in a workspace (docs/contract.md §9). A viewer reads what a member reads, and changes nothing.

export const ROLES = ['owner', 'member', 'viewer'] as const

export type Role = (typeof ROLES)[number]
