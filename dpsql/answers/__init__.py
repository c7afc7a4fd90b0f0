"""From released numbers to an answer: what follows the noise, how it is kept, quoted and written."""
