/** From the room that imports to the room that is imported; the lowest floor is 0. */
export interface Arrow {
  from: string;
  to: string;
}

export function floorOf(room: string): number;
/** Every import between two rooms, once. */
export function readArrows(): Arrow[];
/** As SVG. */
export function drawHouse(arrows: readonly Arrow[]): string;
