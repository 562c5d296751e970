import { mount } from "svelte";
import Review from "./Review.svelte";

mount(Review, { target: document.getElementById("review") });
